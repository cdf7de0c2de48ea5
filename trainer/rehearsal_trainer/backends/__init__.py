"""The training engines behind the scripts: the only folder that imports them."""
