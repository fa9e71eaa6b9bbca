"""Engines that search the state space of a transition system."""
