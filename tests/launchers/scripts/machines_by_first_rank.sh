#!/bin/bash
#: call 8 0
#: call 8 4
export RANK_SIZE=$1
START=$2
for((i=0;i<4;i++));
do
    rm device$i/ -rf
    mkdir device$i
    cd device$i || exit
    export RANK_ID=$[i+START]
    export DEVICE_ID=$i
    python ${ROOT:-..}/train.py --device_num=$RANK_SIZE --seed $((RANK_ID * 10)) > log$i.log 2>&1 &
    cd ..
done
