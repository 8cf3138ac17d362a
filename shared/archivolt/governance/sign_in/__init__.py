"""People in a browser: how they sign in, and for how long they are known there."""
