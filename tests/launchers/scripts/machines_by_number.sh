#!/bin/bash
#: call 4 0
#: call 4 1
export RANK_SIZE=$1
export SERVER_ID=$2
for((i=0;i<2;i++)); do
export DEVICE_ID=$i
export RANK_ID=$((i+SERVER_ID*2))
python train.py --server $SERVER_ID --rank $RANK_ID &
done
