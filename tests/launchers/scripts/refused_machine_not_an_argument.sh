#!/bin/bash
#: refused 6 8
export RANK_SIZE=16
for ((i=0;i<$1;i++)); do
  export RANK_ID=$i
  python train.py --rank $RANK_ID &
done
