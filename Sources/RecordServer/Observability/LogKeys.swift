/// Keys of log metadata.
///
/// Values are never record contents or tokens.
enum LogKeys {
    static let connection = "connection"
    static let peer = "peer"
    static let reason = "reason"
    static let client = "client"
    static let container = "container"
    static let environment = "environment"
    static let user = "user"
    static let error = "error"
    static let host = "host"
    static let port = "port"
    static let connections = "connections"
    static let threads = "threads"
    static let detail = "detail"
    static let asset = "asset"
    static let assets = "assets"
}
