"""The embedded provider: answers by quoting, with no language model and no key."""
