"""The trusted side's hold on the fork server and on each worker."""
