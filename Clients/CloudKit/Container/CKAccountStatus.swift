/// Whether a user is signed in.
///
/// - Source: Apple's `CKAccountStatus`.
public enum CKAccountStatus: Int, Sendable {
    /// The server could not be asked; the error has the reason.
    case couldNotDetermine = 0
    /// A user is signed in: the server has accepted the access token.
    case available = 1
    /// The operator has restricted the processing of the user's data; every request fails with
    /// `managedAccountRestricted`.
    case restricted = 2
    /// No access token is configured, or the server does not accept it, or no longer.
    case noAccount = 3
    /// The server takes no connections now, because of overload or shutdown.
    case temporarilyUnavailable = 4
}
