/// The release of this code: one number for the server, its clients and its tools.
package enum Release {
    package static let version = "0.1.0"

    /// How the code was compiled: `debug` or `release`.
    package static var build: String {
        #if DEBUG
        "debug"
        #else
        "release"
        #endif
    }
}
