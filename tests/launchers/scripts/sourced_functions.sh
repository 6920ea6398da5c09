#!/bin/bash
#: call data
CUR="$(dirname "$0")"
. ${CUR}/paths.sh
DATA=$(absolute $1)
export RANK_SIZE=2
for i in 0 1; do
  export RANK_ID=$i
  python train.py --data $DATA &
done
