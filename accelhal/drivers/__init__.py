"""What the plugins' management planes share: a driver library, read figure by figure."""
