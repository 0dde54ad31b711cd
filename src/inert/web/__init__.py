"""The web page of ``inert view``: a thin face over report, stats and ops, served on this machine only.

Knows: how a browser asks, and who may ask. Refuses to know: formats, pickles and tensors beyond what the layers below say of them.
"""
