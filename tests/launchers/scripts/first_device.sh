#!/bin/bash
#: call 2 4
export RANK_SIZE=$1
export START_ID=$2
for((i=0; i<$1; i++))
do
    export RANK_ID=$i
    export DEVICE_ID=$((i + START_ID))
    rm -rf ./train_$DEVICE_ID
    mkdir ./train_$DEVICE_ID
    cd ./train_$DEVICE_ID || exit
    nohup python ../train.py --device_id=$DEVICE_ID > log.txt 2>&1 &
    cd ..
done
