#!/bin/bash
#: call 2
for i in $(seq 0 $(($1 - 1))); do
  mkdir -p dev$i
  export RANK_ID=$i RANK_SIZE=$1
  cd dev$i && python ../train.py --index $i > log 2>&1 &
done
wait
