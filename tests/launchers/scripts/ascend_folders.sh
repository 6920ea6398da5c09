#!/bin/bash
#: call hccl.json
if [ $# != 1 ]
then
  echo "usage: $0 RANK_TABLE"
  exit 1
fi
if [ ! -f $1 ]
then
  echo "no rank table"
  exit 1
fi
export RANK_TABLE_FILE=$1
export DEVICE_NUM=8
export RANK_SIZE=8
for((i=0; i<${DEVICE_NUM}; i++))
do
    export DEVICE_ID=$i
    export RANK_ID=$i
    rm -rf ./rank_$i
    mkdir ./rank_$i
    cp ../*.py ./rank_$i
    cp -r ../src ./rank_$i
    cd ./rank_$i || exit
    env > env.log
    echo "rank $RANK_ID on device $DEVICE_ID"
    python train.py --distributed=1 > train.log 2>&1 &
    cd ..
done
