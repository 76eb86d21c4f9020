/// A change of state for a supervisor, in the words of `sd_notify(3)`.
enum SupervisorNotice: Hashable {
    /// The store is being opened, which takes long if it is brought to another format.
    case opening
    /// The server accepts connections.
    case ready(address: String)
    /// The certificate is being read again; `reloaded` follows.
    case reloading(monotonicMicroseconds: UInt64)
    /// The new certificate is in force, or the old one for this reason.
    case reloaded(failure: String?)
    /// Connections are being drained, and the process will end.
    case stopping
    /// Resets the watchdog of the supervisor.
    case alive

    /// One assignment a line.
    var text: String {
        switch self {
        case .opening: "STATUS=opening the store"
        case .ready(let address): "READY=1\nSTATUS=listening on \(address)"
        case .reloading(let microseconds):
            "RELOADING=1\nMONOTONIC_USEC=\(microseconds)\nSTATUS=reading the certificate"
        case .reloaded(nil): "READY=1\nSTATUS=reloaded the certificate"
        case .reloaded(let reason?):
            "READY=1\nSTATUS=keeping the old certificate: \(reason.replacing("\n", with: " "))"
        case .stopping: "STOPPING=1\nSTATUS=answering what is in flight"
        case .alive: "WATCHDOG=1"
        }
    }
}
