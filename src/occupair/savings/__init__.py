"""Savings of ventilation that follows people: closed-loop studies of ventilation policies.

- `policies`: what a policy knows, and the policies without a count
"""
