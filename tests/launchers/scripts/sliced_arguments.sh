#!/bin/bash
#: call hccl.json --epochs 3
export RANK_TABLE_FILE=$1
args=${*:2}
export RANK_SIZE=2
for i in 0 1; do
  export RANK_ID=$i
  python train.py ${@:2} &
done
