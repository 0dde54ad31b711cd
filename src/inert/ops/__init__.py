"""What is done with checkpoints as wholes: one public function each.

Knows: nothing by itself. Refuses to know: how a result is laid out or shown.
"""
