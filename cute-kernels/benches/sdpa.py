"""The speed of PyTorch's attention with cuDNN on the shapes of `cargo bench -p cute-kernels --bench kernels -- attention`."""

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

ROUNDS, LAUNCHES, TOKENS, WIDTH = 15, 4, 16384, 2048


def measure(length, d, causal):
    shape = (TOKENS // length, WIDTH // d, length, d)
    q, k, v = (torch.randn(shape, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    times = []
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        for round in range(-3, ROUNDS):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            for _ in range(LAUNCHES):
                torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
            end.record()
            torch.cuda.synchronize()
            if round >= 0:
                times.append(start.elapsed_time(end) / 1e3)
    work = 4 * TOKENS // length * (WIDTH // d) * length * length * d * (0.5 if causal else 1)
    return work * LAUNCHES / sorted(times)[ROUNDS // 2] / 1e12


print(torch.cuda.get_device_name(), "cuDNN", torch.backends.cudnn.version())
print("length    d causal  TFLOP/s")
for d in (64, 128):
    for causal in (False, True):
        for length in (2048, 4096, 8192, 16384):
            print(f"{length:6} {d:4} {str(causal).lower():>6} {measure(length, d, causal):8.1f}")
