"""`--watch`: the boards while a job runs, and what the samples say of it."""
