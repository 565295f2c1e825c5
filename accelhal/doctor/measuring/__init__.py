"""`--measure`: what the boards do for seconds, and whether it is what they should do."""
