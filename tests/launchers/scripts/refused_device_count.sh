#!/bin/bash
#: refused 5
N=$(nvidia-smi -L | wc -l)
export RANK_SIZE=2
for ((i=0;i<N;i++)); do
  RANK_ID=$i python train.py &
done
