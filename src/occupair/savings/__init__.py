"""Savings of ventilation that follows people: closed-loop studies of ventilation policies."""
