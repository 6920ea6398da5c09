#!/bin/bash
#: call 4
n=0
export RANK_SIZE=$1
while [ $n -lt $1 ]
do
  export RANK_ID=$n
  let dev=$n+1
  export DEVICE_ID=$dev
  python train.py --n `expr $n \* 2` &
  n=$((n+1))
done
wait
