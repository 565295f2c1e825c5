"""The built-in models: one file an architecture, each in plain torch.nn."""
