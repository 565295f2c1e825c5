"""Python runs this when a child process starts: torch shall find a CUDA binding."""

from vendor_stacks.cuda.arrival import prepare

prepare()
