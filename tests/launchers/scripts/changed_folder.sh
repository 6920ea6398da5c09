#!/bin/bash
#: call
cd work || exit
for((i=0;i<2;i++)); do
  export RANK_ID=$i
  export RANK_SIZE=2
  export DEVICE_ID=$i
  python3 train.py --rank $i &
done
wait
