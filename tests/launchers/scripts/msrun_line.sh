#!/bin/bash
#: call 4
rm -rf msrun_log
mkdir msrun_log
export MODE=fast
msrun --worker_num=$1 --local_worker_num=$1 --master_port=8118 --log_dir=msrun_log --join=True ./net.py --epochs 2
