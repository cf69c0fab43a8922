#!/usr/bin/env python3
"""What PyTorch's libraries need for the rows of GpuKernels, on the same GPU: name, microseconds.

Arguments are in memory of the device. A time is the median of 50 launches, each between two events.
"""

import statistics
import sys

try:
    import torch
except ImportError:
    sys.exit("peers.py: no torch")

torch.backends.cuda.matmul.allow_tf32 = False
device = torch.device("cuda")


def measure(name, call, repeats=50):
    for _ in range(5):
        call()
    times = []
    for _ in range(repeats):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3)
    print(f"{name:20} {statistics.median(times):12.1f} us", flush=True)


x = torch.randn(8192, 8192, device=device)
out = torch.empty_like(x)
row = torch.randn(8192, device=device)
sums = torch.empty(8192, device=device)
measure("copy", lambda: out.copy_(x))
measure("gelu", lambda: torch.nn.functional.gelu(x))
measure("add_row", lambda: torch.add(x, row, out=out))
measure("transpose", lambda: out.copy_(x.t()))
measure("row_sum", lambda: torch.sum(x, 1, out=sums))
measure("softmax", lambda: torch.softmax(x, 1))
for dtype, size in ((torch.float32, 512), (torch.float32, 1024), (torch.float32, 2048), (torch.float32, 8192),
                    (torch.bfloat16, 512), (torch.bfloat16, 1024), (torch.bfloat16, 2048), (torch.float16, 4096), (torch.bfloat16, 4096), (torch.bfloat16, 8192)):
    a, b = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
    name = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16"}[dtype]
    measure(f"matmul_{name}_{size}", lambda: a @ b)
a, b = (torch.randn(4096, 4096, device=device).to(torch.bfloat16) for _ in range(2))
bias = torch.randn(4096, device=device).to(torch.bfloat16)
measure("dense_gelu_bf16_4096", lambda: torch.nn.functional.gelu(torch.addmm(bias, a, b)))
