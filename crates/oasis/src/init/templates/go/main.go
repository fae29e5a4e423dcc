// A motor, a hundred times a second.
package main

import (
	"fmt"
	"log"
	"math"
	"os"
	"time"

	"oasis"
)

// Motor is a probe type, and each field a metric.
type Motor struct {
	_           struct{} `oasis:"Machine::Motor,uuid=@uuid@,version=1.0" doc:"A motor."`
	Speed       float64  `oasis:"speed,unit=/min,kind=gauge,label=Speed,max=9000" doc:"Speed of the shaft."`
	Temperature float64  `oasis:"temperature,unit=Cel,kind=gauge,label=Temperature,warn>80,alarm>95"`
	Mode        uint8    `oasis:"mode,enum=IDLE:0|RUNNING:1,kind=state" doc:"What it does."`
}

const running = 1

func main() {
	if os.Getenv("OASIS_CONFIG") != "" {
		log.Fatal("OASIS_CONFIG is refused: a node in Go has its settings in code; unset it, and set OASIS_DAC")
	}
	// With several, separated by commas, the node goes to the next one when it loses one.
	dac := os.Getenv("OASIS_DAC")
	if len(os.Args) > 1 {
		dac = os.Args[1]
	} else if dac == "" {
		dac = "127.0.0.1:7071"
	}
	node := oasis.NewNode("@name@")
	motor := oasis.Pushed[Motor](node, "motor")
	if err := node.Start(dac); err != nil {
		log.Fatal(err)
	}
	defer node.Close()
	fmt.Println("@name@ runs; Ctrl-C ends it.")
	for turn := 0; ; turn++ {
		seconds := float64(turn) / 100
		// Never waits: if the ring is full, the sample is dropped and counted.
		motor.Flush(Motor{
			Speed:       3000 + 500*math.Sin(seconds),
			Temperature: 70 + 15*math.Sin(seconds/10),
			Mode:        running,
		})
		time.Sleep(10 * time.Millisecond)
	}
}
