import CloudKit
import CloudKitMirror

/// Lines for people.
enum Output {
    /// Writes a line to standard output.
    static func line(_ text: String) {
        print(text)
        fflush(nil)
    }

    /// Writes a line to standard error.
    static func status(_ text: String) {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
    }
}

extension MirrorStatus {
    var json: String {
        #"{"pending":\#(self.pending),"parked":\#(self.parked),"conflicts":\#(self.conflicts),"#
            + #""isComplete":\#(self.isComplete)}"#
    }

    var text: String {
        "\(self.pending) pending, \(self.parked) parked, \(self.conflicts) overruled, "
            + (self.isComplete ? "complete" : "not complete")
    }
}

extension MirrorEvent {
    var text: String {
        switch self {
        case .imported(let zone, let saved, let deleted):
            "imported from \(zone): \(saved) saved, \(deleted) deleted"
        case .exported(let saved, let deleted): "sent: \(saved) saved, \(deleted) deleted"
        case .completed(let zone): "\(zone) is complete"
        case .overruled(let id, let columns):
            "overruled in \(id.recordName): "
                + (columns.isEmpty ? "the whole record" : columns.joined(separator: ", "))
        case .parked(let id, let error): "parked \(id.recordName): \(error.localizedDescription)"
        case .waiting(let reason): "the file can't be written, trying again: \(reason)"
        case .stopped(let error): "stopped: \(error.description)"
        }
    }
}
