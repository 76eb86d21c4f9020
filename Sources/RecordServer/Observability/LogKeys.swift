/// Keys of log metadata.
///
/// Values are never record contents or tokens. Numbers are given as `.stringConvertible`, so that
/// they are numbers in JSON.
package enum LogKeys {
    /// The number of a connection.
    package static let connection = "connection"
    /// The number of a request on its connection.
    package static let stream = "stream"
    /// The ID that a client gave a request.
    package static let request = "request"
    package static let operation = "operation"
    /// The name of an error in `Protocol/registry.json`.
    package static let code = "code"
    package static let peer = "peer"
    package static let reason = "reason"
    package static let detail = "detail"
    /// Advice for the operator.
    package static let advice = "advice"
    package static let error = "error"
    /// The message of the lines about a fault.
    package static let fault = "fault"
    /// Number of times that a fault has happened.
    package static let times = "times"
    /// Number of requests that an outage has refused.
    package static let refused = "refused"
    /// Names of settings.
    package static let settings = "settings"
    package static let client = "client"
    package static let container = "container"
    package static let user = "user"
    package static let host = "host"
    package static let port = "port"
    /// Of a listener: `HOST:PORT` or `unix:PATH`.
    package static let address = "address"
    package static let threads = "threads"
    package static let asset = "asset"
    package static let assets = "assets"
    /// Of a file or a folder.
    package static let path = "path"
    /// The number of a page of a database file.
    package static let page = "page"
    /// A number of the system's.
    package static let errno = "errno"
    /// A result code of SQLite's.
    package static let sqlite = "sqlite"
    /// PostgreSQL's error code (SQLSTATE).
    package static let sqlState = "sqlstate"
    /// The address of a database, without its password.
    package static let database = "database"
    package static let indexes = "indexes"
    package static let records = "records"
    /// The name of an environment variable.
    package static let variable = "variable"
    /// The value that was probably meant.
    package static let meant = "meant"
    package static let seconds = "seconds"
    package static let recordType = "record_type"
    /// `private`, `shared` or `public`.
    package static let scope = "scope"
    package static let zone = "zone"
    /// The user record name of a zone's owner.
    package static let owner = "owner"
    package static let record = "record"
    package static let field = "field"
    /// Names of settings with new values.
    package static let changed = "changed"
    /// Names of settings with new values that take effect after a restart.
    package static let needRestart = "need_restart"
}
