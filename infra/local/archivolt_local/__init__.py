"""The stack on one machine: what AWS does for a deployment, done by processes on the loopback.

It runs the product's own functions with the events AWS would send; it holds no product rule.
"""
