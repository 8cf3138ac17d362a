"""Parts of the composition root, one per capability that many collaborators make up."""
