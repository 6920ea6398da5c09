#!/bin/bash
#: call 2
RANK_SIZE=$1
EXEC_PATH=$(pwd)
if [ ! -d "${EXEC_PATH}/data" ]; then
    mkdir data
fi
export DATA_PATH=${EXEC_PATH}/data
export RANK_SIZE=$RANK_SIZE
for((i=0;i<${RANK_SIZE};i++))
do
    rm -rf device$i
    mkdir device$i
    cp ../train.py ./device$i
    cd ./device$i
    export DEVICE_ID=$i
    export RANK_ID=$i
    env > env$i.log
    pytest -s -v ./train.py > train.log$i 2>&1 &
    cd ../
done
