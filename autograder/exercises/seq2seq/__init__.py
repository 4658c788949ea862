"""Checks of 10_seq2seq: the handover of states, attention, and a decoder driven in two ways."""
