#!/bin/bash
#: call 4
export RANK_SIZE=$1
for((i=1;i<${RANK_SIZE};i++)); do
  export RANK_ID=$i
  export DEVICE_ID=$i
  python train.py --rank $i > log_$i 2>&1 &
done
export RANK_ID=0
export DEVICE_ID=0
python train.py --rank 0
