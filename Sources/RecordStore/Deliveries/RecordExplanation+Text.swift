package import RecordModel

// The words for an explanation, which the command line and the console have in common.

extension RecordExplanation.Rights {
    /// The rights, each as a word.
    package var words: [String] {
        let all: [(RecordExplanation.Rights, String)] = [
            (.read, "read"), (.create, "create"), (.write, "write"),
        ]
        return all.filter { self.contains($0.0) }.map(\.1)
    }
}

extension RecordExplanation.Delivery {
    /// The state for people.
    package var text: String {
        switch self.state {
        case .hasIt: "has it"
        case .wasSent: "was sent it, and has not come back"
        case .isBehind:
            switch self.changesBehind {
            case 0: "is behind"
            case 1: "is 1 change behind"
            case 1_000...: "is 1,000 changes behind, or more"
            default: "is \(self.changesBehind) changes behind"
            }
        case .neverCame: "never fetched the zone"
        case .mayNotRead: "may not read it"
        case .passedOver: "began to follow the zone later"
        case .unknown: "unknown"
        }
    }
}
