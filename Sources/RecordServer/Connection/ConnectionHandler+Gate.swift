import NIOCore
import RecordStore
import Transport
import WireProtocol

// What a gate decides about requests: in tests alone.
extension ConnectionHandler {
    /// Has a gate decide about a request that was admitted.
    func pass(_ answer: Answer, _ request: AdmittedRequest, _ gate: any RequestGate) {
        let stream = answer.stream
        let gated = GatedRequest(
            id: self.gatedID(of: stream),
            operation: answer.kind,
            userRecordName: self.user?.signIn.userRecordName,
            request: request
        )
        switch gate.admitted(gated) {
        case .execute(let request):
            answer.stage = .waiting(request)
            self.enqueue(answer)
        case .delay(let duration, let request):
            answer.stage = .waiting(request)
            self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(duration)) {
                self.letGo(stream)
                self.flush()
            }
        case .hold(let request, let until):
            answer.stage = .waiting(request)
            let back = LoopReturn(self)
            until { back { $0.letGo(stream) } }
        case .respond(let outcomes):
            answer.stage = .sending(outcomes, next: 0)
            self.send(answer)
        case .fail(let failure):
            self.end(stream, failure: failure)
        case .breakConnection:
            self.closeQuietly()
        }
    }

    private func letGo(_ stream: UInt32) {
        guard let answer = self.answers[stream], case .waiting = answer.stage else { return }
        self.enqueue(answer)
    }

    /// Whether a gate breaks the connection in place of a response.
    func breaksConnection(insteadOf stream: UInt32) -> Bool {
        self.server.gate?.breaksConnection(insteadOf: self.gatedID(of: stream)) ?? false
    }

    /// The outcomes that a gate lets pass.
    func passing(_ outcomes: Outcomes, of stream: UInt32) -> Outcomes {
        self.server.gate?.passing(outcomes, of: self.gatedID(of: stream)) ?? outcomes
    }

    private func gatedID(of stream: UInt32) -> GatedRequest.ID {
        GatedRequest.ID(connection: self.number, stream: stream)
    }
}
