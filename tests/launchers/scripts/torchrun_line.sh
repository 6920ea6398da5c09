#!/bin/bash
#: call 2
export OMP_NUM_THREADS=4
nohup torchrun --nproc_per_node=$1 --nnodes=1 train.py --lr 0.1 > log 2>&1 &
