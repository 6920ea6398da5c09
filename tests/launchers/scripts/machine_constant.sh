#!/bin/bash
#: call
#: edit NODE=0 NODE=1
export RANK_SIZE=4
NODE=0   # change on the other machine
for i in 0 1; do
  export DEVICE_ID=$i RANK_ID=$((NODE * 2 + i))
  python train.py --node $NODE --rank=$RANK_ID &
done
