"""The paper "Beyond ECE", reproduced: each table beside the printed one, with what agrees, what does not, and why."""
