"""accelhal backend for Cambricon boards, over torch_mlu."""
