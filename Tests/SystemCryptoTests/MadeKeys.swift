/// Keys that openssl made for these tests alone.
enum MadeKeys {
    /// `openssl ecparam -name prime256v1 -genkey`: the curve in a block of its own, then SEC 1.
    static let behindParameters = """
        -----BEGIN EC PARAMETERS-----
        BggqhkjOPQMBBw==
        -----END EC PARAMETERS-----
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIPv5wc6mu+eIKHONO6opeNvrV+cU/++1QBrCkkvfttDQoAoGCCqGSM49
        AwEHoUQDQgAE/t1s1ugJkwlM67TmQ8PGdyUixY8mjnBzaxrQcwLAdRs3O/xw+/BD
        8BEFKkJ/mA46/EaBTlLtbXLKuDdDUK8New==
        -----END EC PRIVATE KEY-----
        """

    /// The right curve, spelled out in numbers.
    ///
    /// Such a key may name another base point.
    static let explicitPrivate = """
        -----BEGIN PRIVATE KEY-----
        MIIBeQIBADCCAQMGByqGSM49AgEwgfcCAQEwLAYHKoZIzj0BAQIhAP////8AAAAB
        AAAAAAAAAAAAAAAA////////////////MFsEIP////8AAAABAAAAAAAAAAAAAAAA
        ///////////////8BCBaxjXYqjqT57PrvVV2mIa8ZR0GsMxTsPY7zjw+J9JgSwMV
        AMSdNgiG5wSTamZ44ROdJreBn36QBEEEaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg
        9KE5RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9QIhAP////8A
        AAAA//////////+85vqtpxeehPO5ysL8YyVRAgEBBG0wawIBAQQgzn/C2ToRJcBo
        p8z1IrDZIE+iEpNjr8fb3wJ8KtsEZ+6hRANCAAQtla8bNzeL4umg3gtiwI5L1atb
        u152PwUjO5obBjuJYlSQtS60NY6gk4CWv9DpRf7xjq+u5l294ZFvnMmuKAMF
        -----END PRIVATE KEY-----
        """

    static let explicitPublic = """
        -----BEGIN PUBLIC KEY-----
        MIIBSzCCAQMGByqGSM49AgEwgfcCAQEwLAYHKoZIzj0BAQIhAP////8AAAABAAAA
        AAAAAAAAAAAA////////////////MFsEIP////8AAAABAAAAAAAAAAAAAAAA////
        ///////////8BCBaxjXYqjqT57PrvVV2mIa8ZR0GsMxTsPY7zjw+J9JgSwMVAMSd
        NgiG5wSTamZ44ROdJreBn36QBEEEaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5
        RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9QIhAP////8AAAAA
        //////////+85vqtpxeehPO5ysL8YyVRAgEBA0IABC2Vrxs3N4vi6aDeC2LAjkvV
        q1u7XnY/BSM7mhsGO4liVJC1LrQ1jqCTgJa/0OlF/vGOr67mXb3hkW+cya4oAwU=
        -----END PUBLIC KEY-----
        """

    /// PKCS #8, encrypted with the password `secret`.
    static let encrypted = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAi9UpGdzGj7UQICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEEv+JoqAVDGMSJPp7DwWSbUEgZBW
        5a2jSafxia9Ygv5G7mYBHRvq40BLzNVyO1bVedIGKVcToaeCzGMKS2OvK/hmgy+w
        TbsmtSSUZgTHghkb7MNJkw0rReIA+P6NzCfyLWhd4g5XS2Z9WNIKjIKRgegw7REz
        kUKqwTxmcyoaGBw11blXppOja3OgbUUEgEITcDRFzXw1ENV5N/wq9xOAkhw3T3w=
        -----END ENCRYPTED PRIVATE KEY-----
        """
}
