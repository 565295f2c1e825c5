"""A plugin that cannot even be imported."""

raise OSError("libbroken.so.1: cannot open shared object file: No such file or directory")
