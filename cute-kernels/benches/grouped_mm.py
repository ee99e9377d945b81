"""The speed of PyTorch's grouped product, `torch._grouped_mm`, on the shapes of the class `grouped` of `bench_gemm`."""

import torch

ROUNDS = 15
SHAPES = [
    (8, 4096, 4096, 7168, "even"),
    (8, 4096, 7168, 2048, "even"),
    (8, 4096, 4096, 7168, "uneven"),
    (64, 8192, 4096, 2048, "even"),
    (64, 8192, 4096, 2048, "uneven"),
    (64, 16384, 2048, 7168, "uneven"),
    (64, 256, 4096, 7168, "uneven"),
]


def ends(groups, m, sizes):
    """As `Shape::ends` of `bench_gemm` has them."""
    weights = [((e + 1) * 0.6180339887498949 % 1) ** 2 if sizes == "uneven" else 1.0 for e in range(groups)]
    sums = [sum(weights[: e + 1]) for e in range(groups)]
    return [int(m * (s / sums[-1])) for s in sums]


def measure(groups, m, n, k, sizes):
    a = torch.randn((m, k), device="cuda", dtype=torch.bfloat16)
    b = torch.randn((groups, n, k), device="cuda", dtype=torch.bfloat16)
    offs = torch.tensor(ends(groups, m, sizes), device="cuda", dtype=torch.int32)
    times, count = [], 10
    for round in range(-3, ROUNDS):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(count):
            torch._grouped_mm(a, b.transpose(-2, -1), offs=offs)
        end.record()
        torch.cuda.synchronize()
        if round >= 0:
            times.append(start.elapsed_time(end) * 1e3 / count)
    return sorted(times)[ROUNDS // 2]


print(torch.cuda.get_device_name(), "PyTorch", torch.__version__)
print("groups     M     N     K            us  TFLOP/s")
for groups, m, n, k, sizes in SHAPES:
    time = measure(groups, m, n, k, sizes)
    print(f"{groups:6} {m:5} {n:5} {k:5} {sizes:>6} {time:8.1f} {2 * m * n * k / time / 1e6:8.1f}")
