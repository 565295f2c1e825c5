"""accelhal backend for Huawei Ascend boards, over torch_npu."""
