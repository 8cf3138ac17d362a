"""Engines that read text in images, and the choice of one."""
