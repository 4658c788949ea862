"""One submission judged: its checks collected, its attempt in a worker, its verdict; and a pool of judges."""
