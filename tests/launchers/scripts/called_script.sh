#!/bin/bash
#: call 2 fast
export RANK_SIZE=$1
for ((i=0;i<$1;i++)); do
  export RANK_ID=$i
  bash one_rank.sh $i $2 > log$i 2>&1 &
done
wait
