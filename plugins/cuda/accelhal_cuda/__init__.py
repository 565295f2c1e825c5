"""accelhal backend for NVIDIA boards, over torch.cuda."""
