"""A simulated CUDA binding: what a CUDA build adds to torch._C, over simulated boards.

torch's own Python (torch.cuda and all that stands on it) runs on it unmodified. It exists only in
child processes that are started with the environment of `process.environment`.
"""
