import Testing

@testable import WebServices

struct WebConnectionStateMachineTests {
    @Test
    func `requests follow each other`() {
        var machine = WebConnectionStateMachine.awaitingHead
        for _ in 0..<2 {
            let isTaken = machine.headReceived(bytesMax: 10)
            #expect(isTaken)
            #expect(machine.bodyReceived(10) == .append)
            let isExecuted = machine.endReceived()
            #expect(isExecuted)
            let ready = machine.responseReady(keepsAlive: true)
            #expect(ready.writes && ready.keepsAlive)
            #expect(machine.responseTaken() == .awaitRequest)
        }
    }

    @Test
    func `a body beyond the bound is refused, and what follows is discarded`() {
        var machine = WebConnectionStateMachine.awaitingHead
        _ = machine.headReceived(bytesMax: 10)
        #expect(machine.bodyReceived(6) == .append)
        #expect(machine.bodyReceived(5) == .refuse)
        let ready = machine.responseReady(keepsAlive: true)
        #expect(ready.writes && !ready.keepsAlive)
        #expect(machine.bodyReceived(5) == .ignore)
        #expect(machine.responseTaken() == .discard)
        #expect(machine.bodyReceived(5) == .ignore)
        let isExecuted = machine.endReceived()
        #expect(!isExecuted)
        let isTaken = machine.headReceived(bytesMax: 10)
        #expect(!isTaken)
    }

    @Test
    func `an early response to a request that ends meanwhile closes`() {
        var machine = WebConnectionStateMachine.awaitingHead
        _ = machine.headReceived(bytesMax: 10)
        _ = machine.responseReady(keepsAlive: true)
        let isExecuted = machine.endReceived()
        #expect(!isExecuted)
        #expect(machine.responseTaken() == .close)
    }

    @Test
    func `a response is written once, and none after the end`() {
        var machine = WebConnectionStateMachine.awaitingHead
        _ = machine.headReceived(bytesMax: 10)
        _ = machine.endReceived()
        let first = machine.responseReady(keepsAlive: false)
        #expect(first.writes && !first.keepsAlive)
        let second = machine.responseReady(keepsAlive: true)
        #expect(!second.writes)
        #expect(machine.responseTaken() == .close)
        machine.ended()
        let last = machine.responseReady(keepsAlive: true)
        #expect(!last.writes)
        #expect(machine.responseTaken() == .ignore)
    }
}
